// Acts once the frame is near what the reader sees: browsers load frames like this one at once.
const whenSeen = (act) => {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: '800px' },
  );
  observer.observe(document.documentElement);
};
