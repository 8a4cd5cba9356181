/** A setting that can be tried: the button that asks the other side now, and what that said. */
import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import { ruleText } from '#contract/rules/rule.ts';
import { call } from '../kit/client.ts';
import { fieldsOf } from '../kit/errors.ts';
import { notify } from '../kit/notice.ts';
import { useCan } from '../kit/permissions.ts';
import { present } from '../kit/present.tsx';
import { queryClient } from '../kit/query.ts';
import { language } from '../kit/text.ts';
import { ApiError } from '../kit/transport.ts';

interface Props {
  call:
    | 'POST /client/setting/system/oidc/test'
    | 'POST /client/setting/email/test'
    | 'POST /{area}/setting/tg/test'
    | 'POST /{area}/setting/webhook/test';
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
      await call(key);
      notify.success(success);
    } catch (error) {
      const [why] = error instanceof ApiError ? fieldsOf(error.errorData) : [];
      if (why) setSaid(ruleText(why, language));
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
