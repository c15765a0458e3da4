//! The native module below the Python package `antiphon`: values in, values out, no rules.

use pyo3::prelude::*;

/// `antiphon._native`
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
