//! Several gateways on one database, behind any load balancer.

mod turns;
