mod interruptions;
mod runs;
mod world;
