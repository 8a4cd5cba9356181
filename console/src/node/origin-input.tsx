/** Where a visitor may come from, beside continents, countries and regions: what a group's lines name. */
import { Select } from 'antd';
import { useMemo, useState } from 'react';
import { isFound, optionOf, originName, placeGroups, regionOf } from '../kit/place-options.ts';
import { t } from '../kit/text.ts';

/** What a line is for, in words. */
export const PlaceName = ({ of }: { of: string }) => <>{originName(of)}</>;

export interface LineOrigins {
  label: string;
  /** `AS3462`, `TW-TPE`, a network */
  values: readonly { value: string; line: string }[];
}

/** One place, ASN or network: chosen of what lines name, or of all continents and countries; a region or an ASN may be typed. */
export function OriginInput({
  value,
  lines,
  onChange,
  label,
}: {
  value: string | undefined;
  lines: readonly LineOrigins[];
  onChange: (value: string | undefined) => void;
  label: string;
}) {
  const { groups, known } = useMemo(() => {
    // what stands among the lines is not offered a second time
    const known = new Set<string>();
    const isNew = (value: string) => !known.has(value) && known.add(value).has(value);
    const named = lines.map(one => ({
      label: one.label,
      options: one.values.flatMap(({ value: code, line }) => {
        const also = `${originName(code)} ${code} ${line}`.toLowerCase();
        return isNew(code) ? [{ value: code, label: `${originName(code)} · ${line}`, also }] : [];
      }),
    }));
    const all = placeGroups().map(one => ({ ...one, options: one.options.filter(({ value: code }) => isNew(code)) }));
    return { groups: [...named, ...all].filter(one => one.options.length > 0), known };
  }, [lines]);
  const [typed, type] = useState('');
  const [, digits] = /^(?:as)?([1-9]\d{0,9})$/i.exec(typed.trim()) ?? [];
  const own = digits === undefined ? regionOf(typed) : `AS${digits}`;
  return (
    <Select<string>
      allowClear
      aria-label={label}
      placeholder={t('place.origin')}
      {...(value === undefined ? {} : { value })}
      onChange={(next: string | undefined) => {
        onChange(next);
        type('');
      }}
      options={own === undefined || known.has(own) ? groups : [optionOf(own), ...groups]}
      showSearch={{ searchValue: typed, onSearch: type, filterOption: isFound }}
      labelRender={({ value: one }) => originName(String(one))}
      style={{ width: '100%' }}
    />
  );
}
