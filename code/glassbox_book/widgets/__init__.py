"""Interactive widgets in a page, without a kernel or another host, complete without a script.

A widget is HTML that contains its whole initial state, so it can be printed, read aloud and shown
where scripts do not run. A script, one per kind of widget, takes over the same elements and
computes in the browser what the package computes here.

A new kind is a function here that returns a :class:`Widget` and a script of the same name in
``page/``, which calls ``glassboxWidgets.define`` with a function of the widget's element;
``page/base.js`` contains what the scripts share.
"""

from glassbox_book.widgets.attention_playground import attention_playground as attention_playground
from glassbox_book.widgets.next_token import next_token as next_token
from glassbox_book.widgets.positional_encoding import positional_encoding as positional_encoding
from glassbox_book.widgets.rotary_arrows import rotary_arrows as rotary_arrows
from glassbox_book.widgets.softmax_temperature import softmax_temperature as softmax_temperature
from glassbox_book.widgets.stepper import Frame as Frame
from glassbox_book.widgets.stepper import Row as Row
from glassbox_book.widgets.stepper import Token as Token
from glassbox_book.widgets.stepper import stepper as stepper
from glassbox_book.widgets.vocabulary_slider import vocabulary_slider as vocabulary_slider
from glassbox_book.widgets.widget import Widget as Widget
