/** What each kind of task does (contract/src/tasks.ts); a further one is one line. */
import type { taskKinds } from '#contract/tasks.ts';
import type { AnyWork } from './kit/task.ts';
import { copyModuleWork } from './module/copy.ts';

const works: { [K in keyof typeof taskKinds]: AnyWork } = { copyModule: copyModuleWork };
export const taskWorks: readonly AnyWork[] = Object.values(works);
