import { largestBodies } from './largest-bodies.ts';

largestBodies(3, 3);
