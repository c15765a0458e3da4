//! The native module of the Python package `antiphon`. It only converts values; the rules are in
//! the engine.

mod arguments;
mod conversion;
mod engine;
mod exceptions;
mod json_string;
mod json_writer;
mod stateful;
mod tracker;
mod unwritable;

use pyo3::prelude::*;

/// `antiphon._native`
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(engine::check, module)?)?;
    module.add_function(wrap_pyfunction!(engine::repair, module)?)?;
    module.add_function(wrap_pyfunction!(engine::filter_orphaned_reasoning, module)?)?;
    module.add_function(wrap_pyfunction!(engine::marker, module)?)?;
    module.add_function(wrap_pyfunction!(engine::strip, module)?)?;
    module.add_function(wrap_pyfunction!(engine::reconcile, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::convert, module)?)?;
    module.add_class::<tracker::Tracker>()?;
    module.add_class::<stateful::StatefulClient>()?;
    module.add_class::<stateful::Turn>()?;
    module.add_class::<stateful::Report>()?;
    module.add_class::<stateful::Ask>()?;
    module.add_class::<stateful::Send>()?;
    module.add_class::<stateful::GiveUp>()
}
