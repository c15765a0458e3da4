mod interruptions;
mod prepared;
mod runs;
mod world;
