/** All that the shell and the screens in it say, as one file to load: our words and those of antd. */
import app from './text/app.zh_TW.ts';
import errors from './text/errors.zh_TW.ts';
import kit from './text/kit.zh_TW.ts';
import messages from './text/messages.zh_TW.ts';

export { default as rules } from 'virtual:rules-zh_TW';
export { default as antd } from 'antd/es/locale/zh_TW';
export const texts = { ...messages, ...kit, ...app, ...errors };
