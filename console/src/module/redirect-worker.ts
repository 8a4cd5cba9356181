/** Runs the expressions of customers beside the page (tried.ts): one that never ends stops nothing but this. */
import { type Redirect, RedirectTable, resolve, TooMuchWork } from '#contract/module/redirect-table.ts';

export interface Asked {
  /** in the order they were made, those alone that are switched on */
  redirects: readonly Redirect[];
  /** as it was typed */
  address: string;
}
export interface Met {
  source: string;
  statusCode: number;
  /** left out: it would be too long */
  location?: string;
  isLoop: boolean;
}
/** `ready` comes once, before anything is asked. */
export type Said = 'ready' | 'tooMuchWork' | { met: Met | undefined };

function answer({ redirects, address }: Asked): Said {
  try {
    const url = resolve(/^(?:https?:\/)?\//i.test(address) ? address : `/${address}`, {
      scheme: 'https',
      authority: 'this.host',
      path: '/',
      args: '',
    });
    const found = new RedirectTable(redirects).find(url);
    if (!found) return { met: undefined };
    const { redirect, location, isLoop } = found;
    return { met: { source: redirect.source, statusCode: redirect.statusCode, location, isLoop } };
  } catch (error) {
    if (error instanceof TooMuchWork) return 'tooMuchWork';
    throw error;
  }
}

addEventListener('message', ({ data }: MessageEvent<Asked>) => postMessage(answer(data) satisfies Said));
postMessage('ready' satisfies Said);
