use antiphon_agents::State;
use antiphon_agents::session::MemorySessions;

fn main() {
    let _ = State::session(MemorySessions::new(), "user-7").conversation("conv_1");
    let _ = State::conversation("conv_1").previous_response_id("resp_1");
}
