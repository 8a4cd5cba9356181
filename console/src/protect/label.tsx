import type { frequencyColours } from '#contract/limits.ts';
import { t } from '../kit/text.ts';
import './label.css';

/** Text with the coloured mark its owner gave it. */
export const Label = ({ colour, text }: { colour: (typeof frequencyColours)[number]; text: string }) => (
  <span className="mono">
    <span className={`label-mark label-${colour}`} role="img" aria-label={t(`colour.${colour}`)} title={t(`colour.${colour}`)} />
    {text}
  </span>
);
