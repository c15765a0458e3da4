-- The `first` of a thread's record is now the greatest number, so that the record follows the entries
-- of its segments. A turn changes the record and inserts an entry: both are in one page, also if the
-- thread has many segments.
UPDATE threads SET first = 0x7fffffffffffffff WHERE first = -1;
