"""The kit in a page: its own Python, run by pyodide in a worker of the browser.

engine_files   everything that a page loads to run the kit, as one script; the packages of npm in it
searches       what a search by WebAssembly is asked, and what it answers
search_files   the searches that pages need, compiled and kept
kernel         runs in the worker: opens steppers, and answers their commands
exercise_cell  runs in another worker: checks a learner's answer

The page's side is in `js/`: `worker.js` starts pyodide and hands messages on; `engine.js` starts
the worker, once for all steppers of a page; `live.js` is a stepper's source of views: the recorded
one until the worker has answered, then the worker, and the bar that searches all states;
`exercises.js`, `dropped_files.js` and `asked_table.js` draw what only pages have.
"""
