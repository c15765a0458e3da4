//! Configures the linker: Node itself provides the symbols of its API.

fn main() {
    napi_build::setup();
}
