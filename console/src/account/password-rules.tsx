/** What a new password must be: said before it is typed, and of each rule whether it holds by now. */
import './password-rules.css';
import { session } from '#contract/limits-start.ts';
import { password as rule } from '#contract/rules/values.ts';
import { t } from '../kit/text.ts';
import { Field, type FieldProps } from './parts.tsx';

interface Rule {
  text: string;
  isMet: boolean;
}
/** Too long is said of one that is: nobody types their way there. */
export const rulesOf = (password: string): Rule[] => [
  { text: t('password.least', { min: session.passwordLengthMin }), isMet: rule.check(password) === true },
  ...(password.length > session.passwordLengthMax
    ? [{ text: t('password.most', { max: session.passwordLengthMax }), isMet: false }]
    : []),
];
/** What is wrong with it. */
export const problemOf = (password: string): string | undefined => rulesOf(password).find(({ isMet }) => !isMet)?.text;

/** Of a field of a drawer. */
export const passwordRules = (value: unknown) => <Rules rules={rulesOf(typeof value === 'string' ? value : '')} />;

const Rules = ({ rules }: { rules: readonly Rule[] }) => (
  <ul className="field-rules">
    {rules.map(({ text, isMet }) => (
      <li key={text} className={isMet ? 'is-met' : undefined}>
        {text}
        <span>{t(isMet ? 'password.met' : 'password.unmet')}</span>
      </li>
    ))}
  </ul>
);

/** A new password and the same again, of a form of the login-type pages. */
export function NewPassword({ errors, typed, ...first }: { errors: Record<string, string | undefined>; typed: Typed } & First) {
  const { password = '', again = '' } = typed;
  return (
    <>
      <Field
        {...first}
        name="password"
        type="password"
        label={t('password.new')}
        autoComplete="new-password"
        error={errors['password']}
        rules={<Rules rules={rulesOf(password)} />}
      />
      <Field
        name="again"
        type="password"
        label={t('password.repeat')}
        autoComplete="new-password"
        error={errors['again']}
        rules={<Rules rules={[{ text: t('password.same'), isMet: again !== '' && again === password }]} />}
      />
    </>
  );
}
type Typed = Partial<Record<string, string>>;
type First = Pick<FieldProps, 'autoFocus'>;
