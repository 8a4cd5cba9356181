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
