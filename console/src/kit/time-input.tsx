/** A point in time; null is "never". Loaded only by forms that ask for one. */
import { DatePicker } from 'antd';
import dayjs from 'dayjs';
import { display } from '#contract/limits.ts';

interface TimeProps {
  id?: string;
  placeholder?: string | undefined;
  'aria-label'?: string;
  'aria-invalid'?: boolean | 'true' | 'false';
  'aria-describedby'?: string;
  /** somebody has already gone into the field that stood here */
  isOpened?: boolean;
  value?: string | null;
  onChange?: (value: string | null) => void;
}

export default function TimeInput({ value, onChange, isOpened = false, ...input }: TimeProps) {
  return (
    <DatePicker
      {...input}
      className="full"
      autoFocus={isOpened}
      showTime
      format={display.dateTimeFormat}
      value={value ? dayjs(value) : null}
      onChange={next => onChange?.(next ? next.toISOString() : null)}
      // Enter takes the time that was typed: it does not save the form as well
      onKeyDown={event => {
        if (event.key === 'Enter') event.preventDefault();
      }}
    />
  );
}

export interface RangeProps {
  label: string;
  isClearable?: boolean;
  /** somebody has already gone into the field that stood here */
  isOpened?: boolean;
  startTime?: string;
  endTime?: string;
  onChange: (startTime: string | undefined, endTime: string | undefined) => void;
}
/** Two points in time. */
export function RangeInput({ label, isClearable = false, isOpened = false, startTime, endTime, onChange }: RangeProps) {
  return (
    <DatePicker.RangePicker
      className={isClearable ? 'filter-range' : undefined}
      showTime
      autoFocus={isOpened}
      defaultOpen={isOpened}
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
