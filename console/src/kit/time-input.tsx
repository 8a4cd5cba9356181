/** A point in time; null is "never". Loaded only by forms that ask for one. */
import { DatePicker } from 'antd';
import dayjs from 'dayjs';
import { display } from '#contract/limits.ts';

export default function TimeInput({
  id,
  value,
  onChange,
}: {
  id?: string;
  value?: string | null;
  onChange?: (value: string | null) => void;
}) {
  return (
    <DatePicker
      id={id}
      className="full"
      showTime
      format={display.dateTimeFormat}
      value={value ? dayjs(value) : null}
      onChange={next => onChange?.(next ? next.toISOString() : null)}
    />
  );
}

interface RangeProps {
  label: string;
  isClearable?: boolean;
  startTime?: string;
  endTime?: string;
  onChange: (startTime: string | undefined, endTime: string | undefined) => void;
}
/** Two points in time. */
export function RangeInput({ label, isClearable = false, startTime, endTime, onChange }: RangeProps) {
  return (
    <DatePicker.RangePicker
      className={isClearable ? 'filter-range' : undefined}
      showTime
      allowClear={isClearable}
      aria-label={label}
      title={label}
      placeholder={isClearable ? [label, '…'] : undefined}
      format={display.dateTimeFormat}
      value={startTime && endTime ? [dayjs(startTime), dayjs(endTime)] : null}
      onChange={range => {
        if (range?.[0] && range[1]) onChange(range[0].toISOString(), range[1].toISOString());
        else if (!range && isClearable) onChange(undefined, undefined);
      }}
    />
  );
}
