import { walked } from './pages.ts';

walked('user');
