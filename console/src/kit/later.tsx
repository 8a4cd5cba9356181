/**
 * Code that comes when it is wanted, or a moment before (`warm`). What does not come, because the line dropped or another release has taken
 * its place, never takes a page or a form along: it says so where it would stand, and is asked for again. Everything that is loaded later
 * goes through here (console/test/later.test.ts).
 */
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { onHealed } from './network.ts';
import { notify } from './notice.ts';
import { t } from './text.ts';

/** `warm`: has it loaded before it is shown; never fails. `load`: the same for who goes on only with it; rejects where it does not come. */
export type Later<P> = ComponentType<P> & { warm: () => Promise<void>; load: () => Promise<unknown> };

/** Loaded once; after a failure it is asked for again. */
function source<T>(load: () => Promise<T>) {
  let found: { it: T } | undefined;
  let loading: Promise<T> | undefined;
  const start = (): Promise<T> =>
    (loading ??= load().then(
      it => (found = { it }).it,
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    ));
  const warm = () =>
    start().then(
      () => {},
      () => {},
    );
  return { get: () => found?.it, start, warm };
}

/** A piece that opens over the page. One that does not come says so, and is closed. */
export function later<P extends { onClose: () => void }>(
  load: () => Promise<ComponentType<P>>,
  failed = () => t('piece.failed'),
): Later<P> {
  const { get, start, warm } = source(load);
  function Piece(props: P) {
    const [, setLoaded] = useState(get() !== undefined);
    const close = useRef(props.onClose);
    close.current = props.onClose;
    useEffect(() => {
      let isGone = false;
      // also where it came between the drawing and this: nothing else would draw it
      start().then(
        () => isGone || setLoaded(true),
        (error: unknown) => {
          if (isGone) return;
          console.error(error);
          notify.error(failed());
          close.current();
        },
      );
      return () => void (isGone = true);
    }, []);
    const Loaded = get();
    return Loaded ? <Loaded {...props} /> : <div className="topbar-progress" role="progressbar" aria-label={t('page.loading')} />;
  }
  return Object.assign(Piece, { warm, load: start });
}

interface Place {
  /** Stands there until it has come. */
  meanwhile?: ReactNode;
  /** What stands there when it did not come; the note says so and has a button to try again. */
  failed?: (note: ReactNode) => ReactNode;
}

/** A piece that stands in the page. One that does not come says so in its place, and comes by itself when the line is back. */
export function inPlace<P extends object>(load: () => Promise<ComponentType<P>>): Later<P & Place> {
  const { get, start, warm } = source(load);
  function Piece({ meanwhile, failed = note => note, ...props }: P & Place) {
    const [state, setState] = useState<'waits' | 'there' | 'failed'>(get() ? 'there' : 'waits');
    const isOut = useRef(false);
    const ask = () =>
      start().then(
        () => isOut.current || setState('there'),
        (error: unknown) => {
          console.error(error);
          if (!isOut.current) setState('failed');
        },
      );
    useEffect(() => {
      isOut.current = false;
      // also where it came between the drawing and this: nothing else would draw it
      if (state !== 'there') void ask();
      const forget = onHealed(() => void ask());
      return () => {
        isOut.current = true;
        forget();
      };
      // oxlint-disable-next-line react/exhaustive-deps -- once: what is asked for does not change
    }, []);
    const Loaded = get();
    // what is left of the properties is what the piece takes: TypeScript does not follow a rest of a generic type
    if (Loaded) return <Loaded {...(props as unknown as P)} />;
    if (state !== 'failed') return meanwhile;
    return failed(
      <span className="piece-failed" role="alert">
        {t('piece.failed')}{' '}
        <button
          type="button"
          className="link"
          onClick={() => {
            setState('waits');
            void ask();
          }}
        >
          {t('page.retry')}
        </button>
      </span>,
    );
  }
  return Object.assign(Piece, { warm, load: start });
}

const inFrame = (note: ReactNode) => (
  <div className="page">
    <div className="panel empty">{note}</div>
  </div>
);
/** A page of the router: the one before stands until it has come, and where it does not come the frame around it stays. */
export function pageLater(load: () => Promise<{ default: ComponentType }>, failed = inFrame) {
  const Page = inPlace(async () => (await load()).default);
  return Object.assign(() => <Page failed={failed} />, { preload: Page.warm });
}
