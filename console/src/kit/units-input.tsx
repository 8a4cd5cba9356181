/** An amount with its unit. The unit may be typed with the number (`1.5 GB`), and follows it. */
import { Input, Select, Space } from 'antd';
import { useEffect, useState } from 'react';
import { type AmountKind, amountIn, readAmount, splitAmount, type Unit, units } from './amount.ts';
import { t, tOf } from './text.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

export interface UnitsProps extends InputLook {
  kind: AmountKind;
  /** The unit in which `value` counts: `B`, `KB/s`, `s`; the smallest unless said. */
  counts?: string;
  value?: number | null;
  /** undefined: nothing is typed, or nothing that is an amount */
  onChange?: (value: number | undefined) => void;
  placeholder?: string;
}

const unitPx = 92;

export function UnitsInput({ kind, counts, value, onChange, placeholder, why, isReadOnly, ...look }: UnitsProps) {
  const all: readonly Unit[] = units[kind];
  const counted = all.find(unit => unit.name === counts) ?? all[0]!;
  const shown = value === null || value === undefined ? undefined : splitAmount(value, all, counted);
  const [typed, setTyped] = useState(shown ? String(shown.amount) : '');
  const [unit, setUnit] = useState(shown?.unit ?? counted);
  const [sent, setSent] = useState(value ?? undefined);
  const read = readAmount(typed, all, unit);
  const isWrong = typed.trim() !== '' && !read;

  // a value from elsewhere: another row, or one that was put back
  useEffect(() => {
    if ((value ?? undefined) === sent) return;
    setSent(value ?? undefined);
    setTyped(shown ? String(shown.amount) : '');
    if (shown) setUnit(shown.unit);
    // oxlint-disable-next-line react/exhaustive-deps -- what is typed here is no reason
  }, [value]);

  function change(text: string, chosen: Unit) {
    setTyped(text);
    setUnit(chosen);
    const now = readAmount(text, all, chosen);
    const next = now && amountIn(counted, now.amount, now.unit);
    setSent(next);
    onChange?.(next);
  }
  /** `1.5 GB` becomes 1.5 and GB; what has too many digits for its unit stays in it. */
  function leave() {
    if (!read) return;
    setTyped(String(read.amount));
    setUnit(read.unit);
  }
  const name = look['aria-label'];
  return (
    <WithWhy why={why}>
      {reason => (
        <>
          <Space.Compact className="full">
            <Input
              {...look}
              className="numbers"
              inputMode="decimal"
              autoComplete="off"
              placeholder={placeholder}
              aria-describedby={look['aria-describedby'] ?? reason}
              aria-invalid={isWrong || isInvalid(look)}
              status={isWrong || isInvalid(look) ? 'error' : undefined}
              disabled={why !== undefined}
              readOnly={isReadOnly}
              value={typed}
              onChange={event => change(event.target.value, unit)}
              onBlur={leave}
            />
            <Select
              aria-label={[name, t('amount.unit')].filter(Boolean).join(' · ')}
              style={{ width: unitPx, flex: 'none' }}
              disabled={why !== undefined || isReadOnly}
              value={unit.name}
              options={all
                .filter(one => one.size >= counted.size || one === unit)
                .map(one => ({ value: one.name, label: tOf('amount', one.name, one.name) }))}
              onChange={next => {
                const chosen = all.find(one => one.name === next)!;
                change(read ? String(read.amount) : typed, chosen);
              }}
            />
          </Space.Compact>
          {isWrong && (
            <small className="piece-wrong" role="alert">
              {t('amount.wrong', { example: `1.5 ${all[2]!.name}` })}
            </small>
          )}
        </>
      )}
    </WithWhy>
  );
}
