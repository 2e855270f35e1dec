// Frames one after the other.
glassboxWidgets.define('stepper', (root) => {
  'use strict';
  const { part, write } = glassboxWidgets;
  const list = root.querySelector('.gb-frames');
  const frames = [...list.children];
  const [slider, back, play, next] = ['frame', 'back', 'play', 'next'].map((name) => part(root, name));
  const last = frames.length - 1;
  let current = +slider.value - 1;
  let timer = 0;

  const show = (frame) => {
    current = Math.max(0, Math.min(last, frame));
    frames.forEach((each, i) => each.toggleAttribute('data-current', i === current));
    slider.value = current + 1;
    slider.setAttribute('aria-valuetext', `${current + 1} of ${last + 1}`);
    write(part(root, 'frame-shown'), `${current + 1}`);
    back.setAttribute('aria-disabled', current === 0);
    next.setAttribute('aria-disabled', current === last);
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    write(play, 'Play');
  };

  const start = () => {
    if (current === last) show(0);
    timer = setInterval(() => {
      if (current < last) show(current + 1);
      if (current === last) stop();
    }, 1000 * list.dataset.seconds);
    write(play, 'Pause');
  };

  const go = (frame) => {
    stop();
    show(frame);
    write(part(root, 'said'), frames[current].querySelector('p').textContent);
  };

  play.addEventListener('click', () => (timer ? stop() : start()));
  back.addEventListener('click', () => go(current - 1));
  next.addEventListener('click', () => go(current + 1));
  slider.addEventListener('input', () => go(slider.value - 1));
  // On the slider the browser itself moves by the arrow keys.
  root.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(current + step);
  });
  show(current);
});
