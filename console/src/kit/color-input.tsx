/** A colour, and how well it can be read on the surfaces of both themes. */
import { Input } from 'antd';
import { useState } from 'react';
import { contrast, hexOfRgb, rgbOf, verdict } from './contrast.ts';
import { t } from './text.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

interface Props extends InputLook {
  value?: string;
  /** undefined: what is typed is no colour */
  onChange?: (value: string | undefined) => void;
}

/** Of tokens.css, in both themes at once: whoever chooses sees one of them. */
const surfaces = { light: '#ffffff', dark: '#151c1d' } as const;
const start = '#0b6168';
const rounded = (ratio: number) => `${(Math.floor(ratio * 10) / 10).toFixed(1)}:1`;

export function ColorInput({ value, onChange, why, isReadOnly, ...look }: Props) {
  const [typed, setTyped] = useState(value ?? '');
  const [sent, setSent] = useState(value);
  // a value from elsewhere
  if (value !== sent) {
    setSent(value);
    setTyped(value ?? '');
  }
  const rgb = rgbOf(typed);
  const isWrong = typed.trim() !== '' && !rgb;
  function change(text: string) {
    setTyped(text);
    const found = rgbOf(text);
    const next = found && hexOfRgb(found);
    setSent(next);
    onChange?.(next);
  }
  const isFixed = why !== undefined || isReadOnly;
  const name = look['aria-label'] ?? t('color.hex');
  return (
    <WithWhy why={why}>
      {reason => (
        <div className="color">
          <div className="color-fields">
            <input
              type="color"
              className="color-well"
              aria-label={`${name} · ${t('color.pick')}`}
              disabled={isFixed}
              value={rgb ? hexOfRgb(rgb) : start}
              onChange={event => change(event.target.value)}
            />
            <Input
              {...look}
              aria-label={name}
              className="mono"
              spellCheck={false}
              autoComplete="off"
              placeholder={start}
              aria-describedby={look['aria-describedby'] ?? reason}
              aria-invalid={isWrong || isInvalid(look)}
              status={isWrong || isInvalid(look) ? 'error' : undefined}
              disabled={why !== undefined}
              readOnly={isReadOnly}
              value={typed}
              onChange={event => change(event.target.value)}
              onBlur={() => rgb && setTyped(hexOfRgb(rgb))}
            />
          </div>
          {isWrong && (
            <small className="piece-wrong" role="alert">
              {t('color.wrong')}
            </small>
          )}
          {rgb && (
            <ul className="color-samples" aria-live="polite">
              {(['light', 'dark'] as const).map(theme => {
                const ratio = contrast(rgb, rgbOf(surfaces[theme])!);
                return (
                  <li key={theme}>
                    {/* the colour as it will be, however faint: a picture of it, which the words beside it judge */}
                    <svg viewBox="0 0 88 30" width="88" height="30" role="img" aria-label={t('color.sample')}>
                      <rect width="88" height="30" rx="5" fill={surfaces[theme]} stroke="var(--line-strong)" />
                      <text x="44" y="20" textAnchor="middle" fontSize="13" fontWeight="560" fill={hexOfRgb(rgb)}>
                        {t('color.sample')}
                      </text>
                    </svg>
                    <span>
                      {t(theme === 'light' ? 'color.onLight' : 'color.onDark')}
                      <small className={verdict(ratio) === 'bad' ? 'piece-warn' : 'ink-3'}>
                        {t(`color.${verdict(ratio)}`, { ratio: rounded(ratio) })}
                      </small>
                    </span>
                  </li>
                );
              })}
            </ul>
          )}
        </div>
      )}
    </WithWhy>
  );
}
