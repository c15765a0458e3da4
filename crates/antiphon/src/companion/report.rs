//! What a turn left out and mended.

/// What was done to a request, to be told to its caller and its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many items of the input the server held already.
    pub resent: usize,
    /// What was mended, each as `fault` and `action` by their names.
    pub mends: Vec<(&'static str, &'static str)>,
}
