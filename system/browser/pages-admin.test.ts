import { walked } from './pages.ts';

walked('admin');
