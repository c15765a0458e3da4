//! Tells the linker that Node's symbols come with Node.

fn main() {
    napi_build::setup();
}
