//! Several gateways on one database, behind any load balancer.

mod responses;
mod turns;
mod writers;
