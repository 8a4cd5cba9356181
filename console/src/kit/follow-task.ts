/** Tasks that somebody has just begun: their log opens, and what became of them is said when the last one has ended. */
import { taskLimits } from '#contract/kit/task.ts';
import { call } from './client.ts';
import { notify } from './notice.ts';
import { queryClient, type TaskWords } from './query.ts';
import { openTasks } from './tasks.tsx';

/** Lines are the log's to show. */
const noLines = { after: 1_000_000_000 };

export async function followTasks(ids: readonly number[], { success, failed }: TaskWords): Promise<void> {
  void openTasks(ids[0]);
  const states = await Promise.all(ids.map(stateAtEnd));
  void queryClient.invalidateQueries();
  if (states.includes('failed')) notify.error(failed);
  else if (states.every(state => state === 'succeeded')) notify.success(success);
}

/** undefined: it cannot be seen any more. */
async function stateAtEnd(taskID: number) {
  for (;;) {
    const {
      task: { state },
    } = await call('GET /{area}/task/{taskID}', { taskID, query: noLines });
    if (state !== 'waiting' && state !== 'running') return state;
    await new Promise(next => setTimeout(next, taskLimits.pollMs));
  }
}
