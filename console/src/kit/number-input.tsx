/**
 * A number, as it was typed. antd's own puts the last number back when the field is left, without a word: here what is no number stays, in
 * the field and in the form's values, and the schema says so.
 */
import { InputNumber } from 'antd';
import type { ReactNode } from 'react';
import { plainNumber } from './plain-number.ts';

interface Props {
  id?: string | undefined;
  placeholder?: string | undefined;
  suffix?: ReactNode;
  'aria-label'?: string | undefined;
  'aria-invalid'?: boolean | 'true' | 'false' | undefined;
  'aria-describedby'?: string | undefined;
  value?: number | string | undefined;
  onChange?: ((value: unknown) => void) | undefined;
}
/** What antd's own takes for one. */
const isNumber = (text: string) => /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/.test(text);

export function NumberInput({ value, onChange, ...rest }: Props) {
  return (
    <InputNumber<number | string>
      {...rest}
      className="full"
      parser={text => plainNumber(text ?? '')}
      value={value}
      onChange={next => onChange?.(next ?? undefined)}
      onInput={text => {
        const plain = plainNumber(text);
        if (plain !== '' && !isNumber(plain)) onChange?.(plain);
      }}
    />
  );
}
