//! The mock and the engine quote the same texts of the provider. Each crate has its own copy of the
//! catalogue, because both are published and neither may depend on the other.

#[test]
fn mock_and_engine_have_same_error_catalogue() {
    let engine = include_str!("../../antiphon/src/faults/provider_errors.json");
    let mock = include_str!("../../antiphon-mock/src/refusal/provider_errors.json");
    assert!(engine == mock, "copy antiphon/src/faults/provider_errors.json to antiphon-mock");
}
