/** What the console shows of the operator, by the hostname people come by, beside how it will look. */
import './logos.css';
import { display } from '#contract/limits.ts';
import { isIP } from '#contract/rules/address.ts';
import { mendDomainName } from '#contract/rules/mend.ts';
import { Button, Form } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { type FormField, resource, type Values } from '../kit/resource.ts';
import { ResourcePage } from '../kit/resource-page.tsx';
import { t } from '../kit/text.ts';
import { Named, Sea } from '../shell/brand.tsx';
import { hostErrors, HostInput, hostTold } from './host-input.tsx';

const images = ['logo', 'favicon', 'backgroundImage', 'sidebarLogo', 'sidebarSimpleLogo'] as const;
const types = 'image/png,image/jpeg,image/webp,image/gif,image/svg+xml';

/** A file that was chosen, or the address of what is stored, as an address to show. */
function useShown(value: unknown): string {
  const [made, setMade] = useState<{ of: unknown; url: string }>();
  useEffect(() => {
    if (!(value instanceof File)) return undefined;
    const reader = new FileReader();
    reader.onload = () => setMade({ of: value, url: String(reader.result) });
    reader.readAsDataURL(value);
    return () => reader.abort();
  }, [value]);
  if (value instanceof File) return made?.of === value ? made.url : '';
  return typeof value === 'string' && value.startsWith('/branding/') ? value : '';
}

interface InputProps {
  value: unknown;
  onChange: (value: unknown) => void;
  id?: string;
  disabled?: boolean;
  name: (typeof images)[number];
}
function ImageInput({ value, onChange, id, disabled, name }: InputProps) {
  const picker = useRef<HTMLInputElement>(null);
  const shown = useShown(value);
  return (
    <div className="image-input">
      <span className="image-input-shown">{shown && <img src={shown} alt={t(`field.${name}`)} />}</span>
      <input
        ref={picker}
        type="file"
        hidden
        accept={types}
        data-image={name}
        onChange={event => {
          const file = event.target.files?.[0];
          if (file) onChange(file);
          event.target.value = '';
        }}
      />
      <Button id={id} disabled={disabled} onClick={() => picker.current?.click()}>
        {t('logo.choose')}
      </Button>
      {(shown || value instanceof File) && !disabled && (
        <Button type="text" onClick={() => onChange('')}>
          {t('logo.take')}
        </Button>
      )}
    </div>
  );
}

/** The page before the sign-in, and the head of the menu, as they will be. */
function Preview() {
  // antd knows no names of fields
  const values = (Form.useWatch([], { form: Form.useFormInstance(), preserve: true }) ?? {}) as Values;
  const [logo, icon, background, side, sign] = [
    useShown(values['logo']),
    useShown(values['favicon']),
    useShown(values['backgroundImage']),
    useShown(values['sidebarLogo']),
    useShown(values['sidebarSimpleLogo']),
  ];
  const title = String(values['title'] ?? '').trim() || 'Breakwater';
  // as the server fills it in
  const copyright = String(values['copyright'] ?? '').trim() || `${title} ${display.copyrightSuffix}`;
  return (
    <div className="brand-preview" role="group" aria-label={t('field.preview')}>
      <div className="brand-preview-tab">
        {icon && <img src={icon} width={16} height={16} alt="" />}
        {title}
      </div>
      <div className="brand-preview-login">
        {background ? <img className="login-background" src={background} alt="" /> : <Sea />}
        <div className="login-brand">
          <Named title={title} logo={logo} />
        </div>
        <small>{copyright}</small>
      </div>
      <div className="brand-preview-side">
        <div className="sider-brand">
          <Named title={title} logo={side} sign={sign} size={24} />
        </div>
      </div>
    </div>
  );
}

const image = (name: (typeof images)[number]): FormField => ({
  name,
  kind: 'custom',
  isOptional: true,
  initial: '',
  help: name,
  render: input => <ImageInput {...input} name={name} />,
});
/** An image that stays is not sent. */
const bodyOf = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        // a list of fewer names than there are
        name !== 'preview' && (!(images as readonly string[]).includes(name) || value === '' || value instanceof File),
    ),
  );

const logos = resource<'GET /client/setting/logos'>({
  name: 'logos',
  list: 'GET /client/setting/logos',
  note: 'logos',
  rowName: row => row.hostname ?? t('logo.everyHost'),
  filters: [{ name: 'keyword', kind: 'search' }],
  columns: [
    { name: 'hostname', link: 'edit', sort: true, width: 240, render: row => row.hostname ?? t('logo.everyHost') },
    { name: 'title', sort: true, width: 200 },
    {
      name: 'logo',
      width: 180,
      render: row => row.logo && <img className="logo-cell" src={row.logo} alt={row.title} />,
    },
    { name: 'copyright', isOptional: true },
    { name: 'updatedAt', kind: 'time', width: 170 },
  ],
  create: 'POST /client/setting/logo',
  update: 'PUT /client/setting/logo',
  remove: 'DELETE /client/setting/logos',
  errors: hostErrors('hostname'),
  drawerPx: 720,
  valuesOf: row => ({ ...row, hostname: row.hostname ?? '' }),
  createBody: bodyOf,
  updateBody: (values, row) => ({ id: row.id, ...bodyOf(values) }),
  fields: [
    { name: 'preview', kind: 'custom', isOptional: false, render: () => <Preview /> },
    {
      name: 'hostname',
      kind: 'custom',
      isOptional: true,
      help: 'brandHost',
      initial: '',
      told: hostTold,
      // an address has colons of its own
      mend: typed => ({ hostname: isIP(typed.trim()) ? typed.trim() : mendDomainName(typed) }),
      render: input => <HostInput {...input} of="hostname" placeholder="cdn.example.com" />,
    },
    { name: 'title', kind: 'text', isOptional: true, placeholder: 'Breakwater', initial: '' },
    { name: 'copyright', kind: 'text', isOptional: true, help: 'copyright', initial: '' },
    ...images.map(image),
  ],
});

export default function Logos() {
  return <ResourcePage resource={logos} />;
}
