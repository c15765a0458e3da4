//! The native module below the Python package `antiphon`: values in, values out, no rules.

mod companion;

use pyo3::prelude::*;

/// `antiphon._native`
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<companion::Companion>()?;
    module.add_class::<companion::Turn>()?;
    module.add_class::<companion::Ask>()?;
    module.add_class::<companion::Send>()?;
    module.add_class::<companion::GiveUp>()
}
