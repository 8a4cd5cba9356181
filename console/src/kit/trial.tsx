/** A setting that can be tried: the button that asks the other side now, and what that said. */
import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { callAny, type CallKey } from './client.ts';
import { fieldsOf } from './errors.ts';
import { notify } from './notice.ts';
import { useCan } from './permissions.ts';
import { present } from './present.tsx';
import { queryClient } from './query.ts';
import { language } from './text.ts';
import { ApiError } from './transport.ts';

interface Props {
  /** takes nothing: what is stored is tried */
  call: CallKey;
  label: string;
  success: string;
  /** what there is to try is set */
  isReady: boolean;
  /** beside the button */
  children?: ReactNode;
}

export function Trial({ call: key, label, success, isReady, children }: Props) {
  const can = useCan();
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  async function tryIt() {
    setBusy(true);
    setSaid('');
    try {
      await callAny(key, {});
      notify.success(success);
    } catch (error) {
      const [why] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
      // the other side's own words, or what stood between it and us
      if (error instanceof ApiError && typeof error.extra === 'string') setSaid(`${error.message} · ${error.extra}`);
      else if (why) setSaid(ruleText(why, language));
      else present(error);
    } finally {
      setBusy(false);
      void queryClient.invalidateQueries();
    }
  }
  return (
    <>
      {said && (
        <p className="bad" role="alert">
          {said}
        </p>
      )}
      {can(key) && isReady && (
        <div className="button-line">
          <Button loading={isBusy} onClick={() => void tryIt()}>
            {label}
          </Button>
          {children}
        </div>
      )}
    </>
  );
}
