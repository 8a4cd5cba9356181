/** Asks a worker what an address meets, for so long and no longer: expressions are their owner's, and the page must not wait for one. */
import type { Asked, Met, Said } from './redirect-worker.ts';

const deadlineMs = 1000;

/** `tooLong`: it was ended. @throws when the worker cannot be loaded, or fails */
export function tried(asked: Asked): Promise<'tooLong' | 'tooMuchWork' | { met: Met | undefined }> {
  return new Promise((done, failed) => {
    const worker = new Worker(new URL('./redirect-worker.ts', import.meta.url), { type: 'module' });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      worker.terminate();
    };
    worker.addEventListener('error', event => {
      end();
      failed(new Error(event.message || 'the worker could not be loaded'));
    });
    worker.addEventListener('message', ({ data }: MessageEvent<Said>) => {
      if (data === 'ready') {
        // what it takes to load the code is not the expressions' time
        timer = setTimeout(() => {
          end();
          done('tooLong');
        }, deadlineMs);
        return worker.postMessage(asked);
      }
      end();
      done(data);
    });
  });
}
