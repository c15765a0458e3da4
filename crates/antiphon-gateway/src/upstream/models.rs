//! An upstream's list of models.

use antiphon::json::{Object, quote};

/// A model, as the Models API lists it.
pub(super) struct Model {
    pub(super) id: String,
    pub(super) json: String,
}

/// The models of a `GET /models` answer. Models in Anthropic's form are converted to the form of
/// the Models API.
pub(super) fn models_of(body: &[u8], owner: &str) -> Vec<Model> {
    let data = |body: &Object<'_>| {
        let models: Vec<Object<'_>> = serde_json::from_str(body.get("data")?).ok()?;
        Some(models.into_iter().filter_map(|model| completed(model, owner)).collect())
    };
    Object::parse(body).ok().as_ref().and_then(data).unwrap_or_default()
}

fn completed(mut model: Object<'_>, owner: &str) -> Option<Model> {
    let id = model.string("id")?.into_owned();
    if model.string("object").as_deref() != Some("model") {
        model.set("object", r#""model""#);
        model.set("created", "0");
        model.set("owned_by", quote(owner));
        for key in ["type", "created_at"] {
            model.remove(key);
        }
    }
    Some(Model { json: model.to_text(), id })
}
