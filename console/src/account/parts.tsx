/** Inputs of the login-type pages: the browser's own, with a label and an error each. */
import { type InputHTMLAttributes, useId, useState } from 'react';
import { t } from '../kit/text.ts';

export interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'id'> {
  name: string;
  label: string;
  error?: string;
}

export function Field({ label, error, type, ...input }: FieldProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  const isPassword = type === 'password';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="field-box">
        <input
          id={id}
          type={isPassword && isShown ? 'text' : type}
          aria-invalid={!!error}
          aria-describedby={error ? `${id}-error` : undefined}
          {...input}
        />
        {isPassword && (
          <button
            type="button"
            className="field-eye"
            aria-label={t(isShown ? 'login.hidePassword' : 'login.showPassword')}
            onClick={() => setShown(!isShown)}
          >
            <svg width="18" height="18" viewBox="0 0 18 18" fill="none" stroke="currentColor" strokeWidth="1.4" aria-hidden>
              <path d="M1.5 9S4 3.800 9 3.800 16.500 9 16.500 9 14 14.200 9 14.200 1.500 9 1.500 9Z" />
              <circle cx="9" cy="9" r="2.400" />
              {!isShown && <path d="M3 15 15 3" />}
            </svg>
          </button>
        )}
      </div>
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type Errors = Record<string, string | undefined>;

/** One submit at a time; the first broken field is focused. */
export function useSubmit<Name extends string>(
  check: (values: Record<Name, string>) => Partial<Record<Name, string>>,
  send: (values: Record<Name, string>) => Promise<void>,
) {
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  async function submit(event: React.FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const values = Object.fromEntries(new FormData(form)) as Record<Name, string>;
    const found = check(values) as Errors;
    setErrors(found);
    const first = Object.keys(found).find(name => found[name]);
    if (first) return (form.elements.namedItem(first) as HTMLInputElement | null)?.focus();
    setBusy(true);
    try {
      await send(values);
    } finally {
      setBusy(false);
    }
  }
  return { errors, isBusy, submit, setErrors };
}
