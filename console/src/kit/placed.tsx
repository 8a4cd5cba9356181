/** A piece in its place on a page: room of its height until its code and the words of such pieces have come. */
import './pieces.css';
import { type ComponentType, type ReactNode, useEffect } from 'react';
import { inPlace, type Later } from './later.tsx';
import { addTexts, language, t } from './text.ts';

const texts = import.meta.glob<{ default: Readonly<Record<string, string>> }>('./late.*.ts');
const Said = ({ children }: { children: ReactNode }) => children;
/** Words of all pieces are one file: a request costs more than its bytes. */
const Words = inPlace(async () => {
  addTexts((await texts[`./late.${language}.ts`]!()).default);
  return Said;
});

/** `heightPx`: what it will take, so that nothing jumps when it comes. `load`: of the piece and its words, for who goes on only with them. */
export function placed<P extends object>(
  heightPx: number,
  Piece: Later<P & { meanwhile?: ReactNode }>,
): ComponentType<P> & { load: () => Promise<unknown> } {
  function Placed(props: P) {
    useEffect(() => void Piece.warm(), []);
    const meanwhile = <div style={{ minHeight: heightPx }} role="status" aria-busy aria-label={t('page.loading')} />;
    return (
      <Words meanwhile={meanwhile}>
        <Piece {...props} meanwhile={meanwhile} />
      </Words>
    );
  }
  return Object.assign(Placed, { load: () => Promise.all([Words.load(), Piece.load()]) });
}
