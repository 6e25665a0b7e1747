"""The trials of a tuning in its page: lines through the values of holes, and a table. The page's scripts sort
and select them (`trials.js`), and show them while they are made (`live.js`)."""
