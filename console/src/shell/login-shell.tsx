/** The frame of the login-type pages. Plain HTML and CSS: the component library stays out of the first page anyone sees. */
import { Outlet } from '@tanstack/react-router';
import { languages } from '#contract/kit/text.ts';
import { area } from '../kit/area.ts';
import { isOurs, useBrand } from '../kit/brand.ts';
import { chooseLanguage, language, languageNames, t } from '../kit/text.ts';
import { languageTags } from '#contract/kit/text.ts';
import { Named, Sea } from './brand.tsx';

export function LoginShell() {
  const brand = useBrand();
  return (
    <div className="login">
      <aside className="login-aside">
        {brand.backgroundImage ? <img className="login-background" src={brand.backgroundImage} alt="" /> : <Sea />}
        <div className="login-brand">
          <Named title={brand.title} logo={brand.logo} />
        </div>
        {isOurs(brand) && (
          <div className="login-claim">
            <p className="login-claim-title">{t('brand.claim')}</p>
            <p>{t('brand.line')}</p>
          </div>
        )}
      </aside>
      <main className="login-main">
        <div className="login-box">
          <div className="login-brand login-brand-small">
            <Named title={brand.title} logo={brand.logo} />
          </div>
          <Outlet />
          <nav className="login-languages" aria-label={t('page.language')}>
            {languages.map(name => (
              <button
                key={name}
                type="button"
                lang={languageTags[name]}
                aria-pressed={name === language}
                onClick={() => chooseLanguage(name)}
              >
                {languageNames[name]}
              </button>
            ))}
          </nav>
          <a className="login-notices" href="/NOTICES/third-party.txt" target="_blank" rel="noreferrer">
            {t('brand.notices')}
          </a>
          {brand.copyright && <p className="login-copyright">{brand.copyright}</p>}
        </div>
      </main>
    </div>
  );
}

export function LoginTitle({ title, children }: { title: string; children?: React.ReactNode }) {
  return (
    <header className="login-title">
      <h1>{title}</h1>
      <p>{children ?? t(`area.${area}`)}</p>
    </header>
  );
}
