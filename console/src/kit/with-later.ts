/** What is done with code that comes later. Beside later.tsx, which the sign-in carries. */
import { notify } from './notice.ts';
import { t } from './text.ts';

/** Says so where it does not come. */
export async function withLater<T>(load: () => Promise<T>, use: (loaded: T) => unknown): Promise<void> {
  try {
    await use(await load());
  } catch (error) {
    console.error(error);
    notify.error(t('piece.failed'));
  }
}
