//! The result of a call, in the form in which the model reads it.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::tool::{ContentPart, ToolError, ToolOutput};

/// The output of a call.
///
/// The model reads the content. Structured content is read if there is no other: a server repeats
/// it as text.
///
/// # Errors
/// The text of a result that is an error.
pub(super) fn output(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    let is_error = result.is_error == Some(true);
    let mut parts: Vec<ContentPart> = result.content.into_iter().map(part).collect();
    if parts.is_empty() {
        parts.extend(result.structured_content.map(|it| ContentPart::Text(it.to_string())));
    }
    let text = || {
        let texts = parts.iter().map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"))
    };
    match (is_error, text()) {
        (true, text) => Err(ToolError::new(text.unwrap_or_else(|| "The tool failed.".to_owned()))),
        (false, Some(text)) => Ok(ToolOutput::Text(text)),
        (false, None) => Ok(ToolOutput::Parts(parts)),
    }
}

fn part(block: ContentBlock) -> ContentPart {
    match block {
        ContentBlock::Text(text) => ContentPart::Text(text.text),
        ContentBlock::Image(image) => {
            ContentPart::ImageUrl(data_url(&image.mime_type, &image.data))
        }
        ContentBlock::Audio(audio) => unreadable(&format!("Audio of the type {}", audio.mime_type)),
        ContentBlock::Resource(resource) => embedded(resource.resource),
        ContentBlock::ResourceLink(link) => {
            let description = link.description.map(|it| format!(": {it}")).unwrap_or_default();
            ContentPart::Text(format!("{} ({}){description}", link.name, link.uri))
        }
        _ => unreadable("Content of an unknown type"),
    }
}

fn embedded(resource: ResourceContents) -> ContentPart {
    match resource {
        ResourceContents::TextResourceContents { text, .. } => ContentPart::Text(text),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let mime_type = mime_type.as_deref().unwrap_or("application/octet-stream");
            let data = data_url(mime_type, &blob);
            if mime_type.starts_with("image/") {
                return ContentPart::ImageUrl(data);
            }
            let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
            ContentPart::FileData { name, data }
        }
        _ => unreadable("A resource of an unknown type"),
    }
}

fn data_url(mime_type: &str, base64: &str) -> String {
    format!("data:{mime_type};base64,{base64}")
}

/// A text in place of content that models cannot read.
fn unreadable(content: &str) -> ContentPart {
    ContentPart::Text(format!("({content} was left out.)"))
}
