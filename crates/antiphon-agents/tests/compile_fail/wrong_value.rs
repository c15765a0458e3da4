use antiphon_agents::tool;

#[tool(timeout = "5 days")]
async fn timeout() {}

#[tool(on_unknown = Again)]
async fn on_unknown() {}

#[tool(on_error = "output")]
async fn on_error() {}

#[tool(needs_approval = "yes")]
async fn needs_approval() {}

#[tool(needs_approval = |arguments| arguments.cents > 5)]
async fn no_arguments() {}

#[tool(name = "two words")]
async fn name() {}

#[tool(strict = 1)]
async fn strict() {}

fn main() {}
