/** Every kind of task; a further one is one line. The console's words are checked against this table. */
import { copyModule } from './module/copy.ts';

export const taskKinds = { copyModule } as const;
