use antiphon_agents::tool;
use antiphon_agents::tool::ToolError;

struct Receipt;

#[tool]
async fn not_serialized() -> Result<Receipt, ToolError> {
    Ok(Receipt)
}

#[tool]
async fn no_result() -> Receipt {
    Receipt
}

#[tool]
async fn no_error() -> Result<String, Receipt> {
    Err(Receipt)
}

fn main() {}
