export default {
  'menu.licenses': '授權',
  'menu.offlineLicense': '離線授權',
} as const;
