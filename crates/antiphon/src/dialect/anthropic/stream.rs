use bytes::Bytes;

use crate::dialect::Asked;
use crate::dialect::listener::Decode;
use crate::json::Object;
use crate::stream::Assembler;

pub(in crate::dialect) struct Stream {
    asked: Asked,
}

impl Stream {
    pub(in crate::dialect) fn new(asked: Asked) -> Self {
        Self { asked }
    }
}

impl Decode for Stream {
    fn hear(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let _ = (&self.asked, assembler);
        Object::parse(data).map(drop)
    }

    fn hear_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        self.hear(body, assembler)
    }
}
