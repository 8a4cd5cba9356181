/** Tasks that one sees, with their logs (kit/task.ts). */
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, list, map, nullable, obj, one, opt, page, text, time } from '../kit/schema.ts';
import { taskLimits } from '../kit/task.ts';
import { taskStates } from '../states.ts';

const values = () => map(text(500));
export const Task = obj({
  id: id(),
  kind: text(64),
  /** whose key is asked */
  resource: text(64),
  siteID: nullable(id()),
  siteName: nullable(text(64)),
  /** values of its title, `task.<kind>` */
  about: values(),
  state: one(taskStates),
  done: int(),
  /** 0: nobody knows how much there is */
  total: int(),
  /** of what was done: how much could not be */
  failed: int(),
  /** tries in a row that got nowhere; the next is at `runAt` */
  attempts: int(),
  runAt: time(),
  /** why it failed, or why it is tried again, in the caller's language */
  error: nullable(text(2000)),
  /** an e-mail, to those of the same root account */
  startedBy: nullable(text(255)),
  createdAt: time(),
  startedAt: nullable(time()),
  endedAt: nullable(time()),
  /** the caller may cancel it and try it again */
  mayEdit: bool(),
});
export const TaskLine = obj({
  /** lines are numbered from 1; the first ones of a long log are gone */
  n: int(1),
  at: time(),
  level: one(['info', 'warn', 'error']),
  /** its words: `taskLine.<kind>.<code>`, else `taskLine.<code>` */
  code: text(64),
  values: values(),
  /** an error of the catalogue, in the caller's language */
  error: nullable(text(2000)),
});

export const tasks = calls(
  // whose resource a task is of is seen at its row alone: the handlers ask for that key
  { base: '/{area}', areas: ['user', 'client'], resource: 'tasks' },
  {
    'GET /tasks': {
      query: list({ state: opt(one(taskStates)), siteID: opt(id()) }),
      answer: page(Task),
      permission: null,
    },
    'GET /task/{taskID}': {
      /** lines after this one alone */
      query: obj({ after: opt(int()) }),
      answer: obj({ task: Task, lines: arr(TaskLine, taskLimits.lines) }),
      permission: null,
    },
    'PUT /task/{taskID}/cancel': { permission: null },
    /** by hand: it goes on where it stopped, and takes again what could not be done */
    'PUT /task/{taskID}/retry': { permission: null },
  },
);
