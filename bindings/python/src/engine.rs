//! The engine's functions for Python lists.

use antiphon_surface::{self as surface, Finding, ItemVerdict, RepairedItem, RepairedItems};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arguments::{ItemsArgument, parse_value};
use crate::exceptions::{Fault, fault, invalid_argument_error, repair_error};

/// The items and the repairs.
type RepairedList<'py> = (Bound<'py, PyList>, Vec<Repair>);

/// A repair, in the order of the fields of `antiphon.Repair`.
type Repair = (
    Option<usize>,
    Option<String>,
    &'static str,
    &'static str,
    String,
    Option<&'static str>,
    Option<String>,
);

/// A verdict, in the order of the fields of `antiphon.Verdict`.
type Verdict =
    (&'static str, Option<usize>, Option<&'static str>, Option<bool>, Option<usize>, Option<usize>);

#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    held: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Fault>> {
    let items = ItemsArgument::read("items", items)?.text;
    let held = read_held(held)?;
    let findings = py.detach(|| surface::check(&items, held.as_ref()));
    let findings = findings.map_err(|error| invalid_argument_error(py, &error))?;
    Ok(findings.into_iter().map(fault).collect())
}

#[pyfunction]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    held: Option<&Bound<'py, PyAny>>,
    policy: &str,
) -> PyResult<RepairedList<'py>> {
    let ItemsArgument { objects, text } = ItemsArgument::read("items", items)?;
    let held = read_held(held)?;
    let repaired = py.detach(|| surface::repair(&text, held.as_ref(), policy));
    convert_repaired(py, &objects, repaired.map_err(|error| repair_error(py, error))?)
}

#[pyfunction]
pub(crate) fn filter_orphaned_reasoning<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
) -> PyResult<RepairedList<'py>> {
    let ItemsArgument { objects, text } = ItemsArgument::read("items", items)?;
    let repaired = py.detach(|| surface::filter_orphaned_reasoning(&text));
    convert_repaired(py, &objects, repaired.map_err(|error| invalid_argument_error(py, &error))?)
}

#[pyfunction]
pub(crate) fn marker(py: Python<'_>, request: String) -> PyResult<Option<&'static str>> {
    surface::marker(&request.into()).map_err(|error| invalid_argument_error(py, &error))
}

#[pyfunction]
pub(crate) fn strip<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    policy: &str,
) -> PyResult<RepairedList<'py>> {
    let ItemsArgument { objects, text } = ItemsArgument::read("items", items)?;
    let repaired = py.detach(|| surface::strip(&text, policy));
    convert_repaired(py, &objects, repaired.map_err(|error| repair_error(py, error))?)
}

#[pyfunction]
pub(crate) fn reconcile<'py>(
    py: Python<'py>,
    held: &Bound<'py, PyAny>,
    items: &Bound<'py, PyAny>,
) -> PyResult<Vec<Verdict>> {
    let held = ItemsArgument::read("held", held)?.text;
    let items = ItemsArgument::read("items", items)?.text;
    let judged = py.detach(|| surface::reconcile(&held, &items));
    let judged = judged.map_err(|error| invalid_argument_error(py, &error))?;
    Ok(judged.into_iter().map(convert_verdict).collect())
}

fn read_held(held: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Bytes>> {
    held.map(|held| Ok(ItemsArgument::read("held", held)?.text)).transpose()
}

/// Returns unchanged items as the original objects.
fn convert_repaired<'py>(
    py: Python<'py>,
    given: &[Bound<'py, PyAny>],
    repaired: RepairedItems,
) -> PyResult<RepairedList<'py>> {
    let item = |place: &RepairedItem| match place {
        RepairedItem::Unchanged(position) => Ok(given[*position].clone()),
        RepairedItem::Changed(text) => parse_value(py, text.get()),
    };
    let items = repaired.items.iter().map(item).collect::<PyResult<Vec<_>>>()?;
    Ok((PyList::new(py, items)?, repaired.repairs.into_iter().map(convert_repair).collect()))
}

fn convert_repair(finding: Finding) -> Repair {
    let Finding { position, id, fault, action, message, code, param } = finding;
    (position, id, fault, action.unwrap_or_default(), message, code, param)
}

fn convert_verdict(judged: ItemVerdict) -> Verdict {
    let ItemVerdict { verdict, held, rule, differs, made_up, of } = judged;
    (verdict, held, rule, differs, made_up, of)
}
