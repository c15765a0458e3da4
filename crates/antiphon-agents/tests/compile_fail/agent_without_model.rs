use antiphon_agents::{Agent, Run, State};

fn main() {
    let billing = Agent::new("billing").instructions("You refund orders.");
    let _ = Run::start(&billing, State::empty(), "Refund A1");
}
