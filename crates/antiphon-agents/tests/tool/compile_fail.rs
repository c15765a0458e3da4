//! Compile errors, with their texts.

#[test]
fn errors_point_at_the_code_of_the_user() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
