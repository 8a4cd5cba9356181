/** All that the shell and the screens in it say, as one file to load: our words and those of antd. */
import app from './text/app.zh_CN.ts';
import errors from './text/errors.zh_CN.ts';
import kit from './text/kit.zh_CN.ts';
import messages from './text/messages.zh_CN.ts';

export { default as rules } from 'virtual:rules-zh_CN';
export { default as antd } from 'antd/es/locale/zh_CN';
export const texts = { ...messages, ...kit, ...app, ...errors };
