/** What the operator tells its customers. */
import { Input } from 'antd';
import { Markdown } from '../kit/markdown.tsx';
import { resource } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { Toned } from '../kit/status.tsx';
import { t } from '../kit/text.ts';

const stateOf = ({ start, end }: { start: string | null; end: string | null }) => {
  const now = Date.now();
  if (end !== null && Date.parse(end) <= now) return 'over';
  return start !== null && Date.parse(start) > now ? 'planned' : 'shown';
};

interface InputProps {
  value: unknown;
  onChange: (value: unknown) => void;
  id?: string;
  disabled?: boolean;
}
/** Beside what is typed: what customers will read. */
function Content({ value, onChange, ...rest }: InputProps) {
  const text = typeof value === 'string' ? value : '';
  return (
    <>
      <Input.TextArea
        {...rest}
        autoSize={{ minRows: 5, maxRows: 14 }}
        value={text}
        onChange={event => onChange(event.target.value)}
      />
      {text.trim() !== '' && (
        <div className="markdown-preview" role="group" aria-label={t('announcement.preview')}>
          <Markdown text={text} />
        </div>
      )}
    </>
  );
}

const announcements = resource<'GET /client/setting/announcements'>({
  name: 'announcements',
  list: 'GET /client/setting/announcements',
  rowName: row => row.title,
  filters: [{ name: 'keyword', kind: 'search' }],
  columns: [
    { name: 'title', link: 'edit', sort: true, width: 260 },
    {
      name: 'state',
      label: 'status',
      width: 110,
      render: row => {
        const state = stateOf(row);
        return <Toned tone={state === 'shown' ? 'good' : 'idle'}>{t(`announcementState.${state}`)}</Toned>;
      },
    },
    { name: 'start', kind: 'time', sort: true, width: 170 },
    { name: 'end', kind: 'time', sort: true, width: 170 },
    { name: 'orderNum', kind: 'number', sort: true, width: 90 },
    { name: 'updatedAt', kind: 'time', isOptional: true },
  ],
  create: 'POST /client/setting/announcement',
  update: 'PUT /client/setting/announcement',
  remove: 'DELETE /client/setting/announcements',
  drawerPx: 640,
  fields: [
    { name: 'title', kind: 'text' },
    {
      name: 'content',
      kind: 'custom',
      help: 'announcementContent',
      isOptional: true,
      initial: '',
      render: input => <Content {...input} />,
    },
    { name: 'start', kind: 'time', help: 'announcementStart', initial: null },
    { name: 'end', kind: 'time', presets: ['day', 'month', 'never'], help: 'announcementEnd', initial: null },
    { name: 'orderNum', kind: 'number', help: 'announcementOrder', initial: 0 },
  ],
});

export default function Announcements() {
  return <ResourcePage resource={announcements} />;
}
