/** The frame of the gallery: which piece, in which language and theme, and its examples one below the other. */
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { Button, Segmented } from 'antd';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Frame } from '../src/kit/frame.tsx';
import { overlay } from '../src/kit/overlay.ts';
import { chooseLanguage, language, languageNames, t } from '../src/kit/text.ts';
import { chooseTheme, useTheme } from '../src/kit/theme.ts';
import { languages } from '#contract/kit/text.ts';
import { type Example, type Piece, pieces } from './pieces.ts';
import { say, states, words } from './words.ts';

const onHash = (listener: () => void) => {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
};

export function Gallery() {
  const name = useSyncExternalStore(onHash, () => location.hash.slice(1));
  const theme = useTheme();
  const chosen = name === 'all' ? pieces : [pieces.find(piece => piece.name === name) ?? pieces[0]!];
  return (
    <Frame>
      <div className="gallery">
        <header className="gallery-head">
          <h1>{say(words.title)}</h1>
          <Segmented
            aria-label={say(words.languages)}
            value={language}
            options={languages.map(value => ({ value, label: languageNames[value] }))}
            onChange={chooseLanguage}
          />
          <Button onClick={() => chooseTheme(theme === 'dark' ? 'light' : 'dark')}>
            {t(theme === 'dark' ? 'shell.light' : 'shell.dark')}
          </Button>
        </header>
        <nav className="gallery-nav" aria-label={say(words.pieces)}>
          {[{ name: 'all', title: words.all }, ...pieces].map(piece => (
            <a key={piece.name} href={`#${piece.name}`} aria-current={piece.name === name ? 'page' : undefined}>
              {say(piece.title)}
            </a>
          ))}
        </nav>
        <main className="gallery-pieces">
          {chosen.map(piece => (
            <PieceView key={piece.name} piece={piece} />
          ))}
        </main>
      </div>
    </Frame>
  );
}

function PieceView({ piece }: { piece: Piece }) {
  const [examples, setExamples] = useState<readonly Example[]>();
  useEffect(() => void piece.load().then(page => setExamples(page.default)), [piece]);
  return (
    <section
      className="gallery-piece"
      data-piece={piece.name}
      data-ready={examples ? '' : undefined}
      aria-label={say(piece.title)}
    >
      <h2>{say(piece.title)}</h2>
      {examples?.map((example, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a page of the gallery never changes
        <ExampleView key={index} example={example} />
      ))}
    </section>
  );
}

function ExampleView({ example: { state, note, show, open } }: { example: Example }) {
  return (
    <article className="gallery-example" data-state={state}>
      <h3>
        {say(states[state])}
        {note && <small>{say(note)}</small>}
      </h3>
      <div className="gallery-stage">
        {show && <InRouter>{show()}</InRouter>}
        {open && (
          <Button data-opens onClick={() => void overlay(close => <InRouter>{open(() => close())}</InRouter>)}>
            {say(words.open)}
          </Button>
        )}
      </div>
    </article>
  );
}

/** An address of its own: what one example keeps in it (a filter, an open drawer) is no matter of the others. */
function InRouter({ children }: { children: ReactNode }) {
  const [router] = useState(() =>
    createRouter({
      routeTree: createRootRoute({ component: () => children }),
      history: createMemoryHistory({ initialEntries: ['/'] }),
    }),
  );
  return <RouterProvider router={router as never} />;
}
